// SPDX-License-Identifier: Apache-2.0
// Comfort on top of a page that is complete without it: theme, copy, filters, where one
// is, and a cursor and zoom for timelines. It draws no data and loads nothing.
(() => {
'use strict';
const page = document.documentElement;
const all = (query, within = document) => [...within.querySelectorAll(query)];
page.classList.add('script');

// Theme: as the system has it, light, dark.
const themes = ['auto', 'light', 'dark'];
let theme = 'auto';
const remembered = value => {
  try {
    if (value) localStorage.setItem('harness-theme', value);
    return localStorage.getItem('harness-theme');
  } catch { return value; } // a file may not be allowed to remember
};
const setTheme = name => {
  theme = themes.includes(name) ? name : 'auto';
  if (theme === 'auto') page.removeAttribute('data-theme'); else page.dataset.theme = theme;
  for (const b of all('.theme')) b.textContent = 'Theme: ' + theme;
};
setTheme(remembered());
for (const b of all('.theme')) b.addEventListener('click', () => {
  setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
  remembered(theme);
});

// Copy the command beside the button.
for (const b of all('.copy')) b.addEventListener('click', async () => {
  const pre = b.parentNode.querySelector('pre');
  try {
    await navigator.clipboard.writeText(pre.textContent);
    b.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(pre);
    b.textContent = 'Selected';
  }
  setTimeout(() => { b.textContent = 'Copy'; }, 1500);
});

// The title follows the address, the contents follow the reader.
const title = document.title;
const named = () => {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const run = at && at.closest('.run');
  const head = run && run.querySelector('h1');
  document.title = head ? run.querySelector('.word').textContent + ': ' + head.textContent : title;
};
addEventListener('hashchange', named);
named();
const links = new Map(all('.toc a').map(a => [a.hash.slice(1), a]));
const reading = new IntersectionObserver(seen => {
  for (const s of seen) {
    const link = links.get(s.target.id);
    if (!link || !s.isIntersecting) continue;
    for (const other of all('.here', link.parentNode)) other.classList.remove('here');
    link.classList.add('here');
  }
}, { rootMargin: '-8% 0px -76% 0px' });
for (const s of all('.run section')) reading.observe(s);

// Filters: any of the chips of a group, and every group.
for (const chips of all('.chips')) {
  const items = all('.' + chips.dataset.for, chips.parentNode), buttons = all('.chip', chips);
  const apply = () => {
    const wanted = new Map();
    for (const b of buttons) if (b.getAttribute('aria-pressed') === 'true') wanted.set(b.dataset.g, [...(wanted.get(b.dataset.g) || []), b.dataset.v]);
    let shown = 0;
    for (const item of items) {
      const ok = [...wanted].every(([group, values]) => values.includes(item.dataset[group]));
      if (item.tagName === 'TR') item.hidden = !ok; else item.classList.toggle('off', !ok);
      shown += ok;
    }
    for (const row of all('.gr', chips.parentNode)) row.hidden = !row.querySelector('.cell:not(.off)');
    chips.querySelector('output').textContent = shown === items.length ? '' : shown + ' of ' + items.length + ' shown';
  };
  for (const b of buttons) b.addEventListener('click', () => {
    b.setAttribute('aria-pressed', String(b.getAttribute('aria-pressed') !== 'true'));
    apply();
  });
}

// Numbers as the page writes them.
const digits = v => v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
const duration = ns => {
  for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']]) if (ns >= size * 0.9995) return digits(ns / size) + '\u00a0' + unit;
  return Math.round(ns) + '\u00a0ns';
};
const value = (v, unit) => v == null ? '–' : unit === 'ns' ? duration(v) : v.toLocaleString('en-US') + (unit === 'msgs/s' ? '/s' : '');

// A timeline: one stretch in view and one cursor for all of its panels.
const timeline = box => {
  const data = JSON.parse(box.querySelector('.data').textContent);
  const stack = box.querySelector('.stack'), ground = stack.querySelector('.bg');
  const first = data.from, last = data.from + data.step * data.count;
  const keys = all('[data-s]', stack).map(e => ({ e, series: data.series[e.dataset.s], rest: e.textContent }));
  let from = first, to = last, at = null, drag = null;
  const mark = name => { const e = document.createElement('div'); e.className = name; e.hidden = true; return stack.appendChild(e); };
  const cursor = mark('cur'), brush = mark('brush');
  const share = t => (t - from) / (to - from);
  const place = () => {
    const plot = ground.getBoundingClientRect(), whole = stack.getBoundingClientRect();
    return { left: plot.left, off: plot.left - whole.left, width: plot.width };
  };
  const under = x => { const p = place(); return Math.min(to, Math.max(from, from + (x - p.left) / p.width * (to - from))); };

  const axis = () => {
    const g = stack.querySelector('.axis'), room = (to - from) / Math.max(2, place().width / 90);
    let step = 1e-6;
    for (let i = 0; step < room; i++) step *= [2, 2.5, 2][i % 3];
    g.textContent = '';
    for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step / 1e6; k++) {
      const t = document.createElementNS(g.namespaceURI, 'text'), x = share(k * step);
      t.setAttribute('x', x * 100 + '%');
      t.setAttribute('y', '14');
      t.setAttribute('text-anchor', x < 0.01 ? 'start' : x > 0.98 ? 'end' : 'middle');
      t.textContent = +(k * step).toFixed(6) + '\u00a0s';
      g.append(t);
    }
  };
  const moved = e => {
    const a = +e.dataset.t, b = e.dataset.u === undefined ? a : +e.dataset.u;
    e.style.display = share(b) < 0 || share(a) > 1 ? 'none' : '';
    const x = Math.max(0, share(a)), end = Math.min(1, share(b));
    if (e.tagName !== 'line') e.setAttribute('x', x * 100 + '%');
    if (e.tagName === 'rect') e.setAttribute('width', Math.max(0, end - x) * 100 + '%');
    if (e.tagName === 'line') { e.setAttribute('x1', x * 100 + '%'); e.setAttribute('x2', (b > a ? end : x) * 100 + '%'); }
  };
  const show = (a, b) => {
    const least = data.step * 4;
    if (b - a < least) { const middle = (a + b) / 2; a = middle - least / 2; b = middle + least / 2; }
    from = Math.max(first, a);
    to = Math.min(last, b);
    for (const z of all('.z', stack)) z.setAttribute('viewBox', [(from - first) / data.step * 10, 0, (to - from) / data.step * 10, z.getAttribute('height')].join(' '));
    all('[data-t]', stack).forEach(moved);
    axis();
    point(at);
  };
  const point = t => {
    at = t;
    const off = at === null || at < from || at > to, p = place();
    cursor.hidden = off;
    if (!off) cursor.style.left = p.off + share(at) * p.width + 'px';
    const column = off ? -1 : Math.min(data.count - 1, Math.max(0, Math.floor((at - first) / data.step)));
    for (const k of keys) k.e.textContent = off ? k.rest : value(k.series.values[column], k.series.unit);
    const within = data.faults.filter(f => !off && at >= f.from && at <= f.to).map(f => ', in ' + f.name).join('');
    box.querySelector('.at').textContent = off ? '' : 't = ' + +at.toFixed(4) + '\u00a0s' + within;
  };
  const span = () => {
    const p = place(), a = Math.min(drag, at), b = Math.max(drag, at);
    brush.hidden = false;
    brush.style.left = p.off + share(a) * p.width + 'px';
    brush.style.width = (share(b) - share(a)) * p.width + 'px';
  };
  const drop = () => { drag = null; brush.hidden = true; };

  stack.addEventListener('pointermove', e => { point(under(e.clientX)); if (drag !== null) span(); });
  stack.addEventListener('pointerdown', e => {
    if (e.button || e.clientX < place().left) return;
    point(under(e.clientX));
    if (e.pointerType === 'touch') return;
    drag = at;
    stack.setPointerCapture(e.pointerId);
    stack.focus({ preventScroll: true });
    e.preventDefault();
  });
  stack.addEventListener('pointerup', () => {
    if (drag === null) return;
    const a = Math.min(drag, at), b = Math.max(drag, at);
    drop();
    if (share(b) - share(a) > 0.01) show(a, b);
  });
  stack.addEventListener('pointercancel', drop);
  stack.addEventListener('pointerleave', () => { if (drag === null && document.activeElement !== stack) point(null); });
  stack.addEventListener('blur', () => point(null));
  stack.addEventListener('dblclick', () => show(first, last));
  stack.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const t = at === null ? (from + to) / 2 : at, step = data.step * (e.shiftKey ? 10 : 1), half = (to - from) / 2;
    const does = {
      ArrowRight: () => point(Math.min(to, t + step)), ArrowLeft: () => point(Math.max(from, t - step)),
      Home: () => point(from), End: () => point(to),
      '+': () => { at = t; show(t - half / 2, t + half / 2); }, '-': () => { at = t; show(t - half * 2, t + half * 2); },
      0: () => { at = null; show(first, last); },
    };
    const act = does[{ '=': '+', Escape: '0', '−': '-' }[e.key] || e.key];
    if (!act) return;
    e.preventDefault();
    act();
    const said = keys.map(k => k.e.parentNode.textContent.trim());
    box.querySelector('.said').textContent = at === null ? 'whole run' : [box.querySelector('.at').textContent, ...said].join(', ');
  });
  for (const b of all('[data-from]', box)) b.addEventListener('click', () => show(+b.dataset.from, +b.dataset.to));
  addEventListener('beforeprint', () => { at = null; show(first, last); });
};
all('.time').forEach(timeline);
})();
