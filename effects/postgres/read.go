// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"database/sql"
	"errors"
)

// Reader opens a database to be asked. No error of this package shows the DSN.
func Reader(dsn string) (*sql.DB, error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, errors.New("postgres: the DSN cannot be read")
	}
	return db, nil
}
