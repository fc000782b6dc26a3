// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package native

// marked finds nothing: other processes' environments are not to be read here, so only
// what the state names is ended.
func marked(string) []process { return nil }
