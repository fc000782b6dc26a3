// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"slices"

	"github.com/seed-720a3c77/harness/checkers"
)

// engineView is one engine with what all of its runs have in common.
type engineView struct {
	Name, Profile, Version, Client, RanAs string
	Settings                              []pair
	Varies                                []string // names of settings that differ between runs
}

func newEngines(results *checkers.Results, m *matrix) []engineView {
	var all []engineView
	for _, engine := range m.engines {
		var runs []*checkers.Result
		for i := range results.Runs {
			if results.Runs[i].Engine == engine {
				runs = append(runs, &results.Runs[i])
			}
		}
		if len(runs) == 0 {
			all = append(all, engineView{Name: engine, Profile: none, Version: none, Client: none, RanAs: "no run"})
			continue
		}
		all = append(all, newEngine(engine, runs))
	}
	return all
}

func newEngine(engine string, runs []*checkers.Result) engineView {
	r := runs[0]
	v := engineView{Name: engine, Profile: orDash(r.Profile.Name), Client: orDash(r.Profile.Client), Version: r.Versions[r.Profile.Product], RanAs: ranAs(r)}
	if v.Version == "" {
		v.Version = orDash(r.Profile.Version)
	}
	for _, name := range settingNames(runs) {
		value, same := common(runs, name)
		if same {
			v.Settings = append(v.Settings, pair{name, orDash(value), false})
		} else {
			v.Varies = append(v.Varies, name)
		}
	}
	return v
}

func ranAs(r *checkers.Result) string {
	if isModel(r.Engine) {
		return "in memory, " + orDash(r.Fidelity) + " time"
	}
	text := orDash(r.Provider)
	if r.Profile.Nodes == 1 {
		text += ", one node"
	}
	return text
}

func settingNames(runs []*checkers.Result) []string {
	var names []string
	for _, r := range runs {
		for name := range r.Settings {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// common tells whether every run has a setting with one value.
func common(runs []*checkers.Result, name string) (string, bool) {
	first, ok := runs[0].Settings[name]
	for _, r := range runs {
		if value, has := r.Settings[name]; value != first || has != ok {
			return "", false
		}
	}
	return first, ok
}
