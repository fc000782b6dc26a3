// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
)

func TestNoFormOfACredentialTellsIt(t *testing.T) {
	const password, user = "hunter2-secret", "alice-account"
	c := Credentials{User: user, Password: contract.NewSecret(password), Mechanism: "PLAIN"}
	e := Endpoint{Engine: Kafka, Address: "127.0.0.1:9092", Credentials: c}

	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb+verb, e, c, c.Password, &c)
	}
	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logged, nil))
	logger.Info("up", "endpoint", e, "credentials", c, "password", c.Password)
	marshalled, err := json.Marshal([]any{e, c, c.Password})
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"fmt": out.String(), "slog": logged.String(), "json": string(marshalled)} {
		if strings.Contains(text, password) || strings.Contains(text, user) {
			t.Errorf("%s tells a credential: %s", form, text)
		}
	}
	if got := c.Password.Reveal(); got != password {
		t.Errorf("Reveal() = %q", got)
	}
}

func TestCredentialsSayWhatKindTheyAre(t *testing.T) {
	for want, c := range map[string]Credentials{
		"anonymous":                           {},
		"anonymous over TLS":                  {TLS: TLS{Enabled: true}},
		"user and password by PLAIN over TLS": {User: "u", Mechanism: "PLAIN", TLS: TLS{Enabled: true}},
	} {
		if got := c.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
