// SPDX-License-Identifier: Apache-2.0
document.documentElement.classList.add("script");
