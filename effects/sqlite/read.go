// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
)

// Reader opens somebody else's file to be asked and never written. It waits a quarter of a
// second for a writer, who may be made to stand still meanwhile, and the driver's waits
// cannot be cut short: who asks has to ask again. A file that is not there is an error of
// the first question.
func Reader(file string) (*sql.DB, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(250)"}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return db, nil
}
