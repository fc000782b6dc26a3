// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/contract"
)

func variables(engine string, set map[string]string) environment {
	return environment{engine, func(name string) string { return set[name] }}
}

func TestCredentialsFromTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pem, secret, empty := file("ca.pem", "x"), file("secret", "s3cret\r\nsecond line\n"), file("empty", "\n")

	for name, tc := range map[string]struct {
		engine string
		set    map[string]string
		want   Credentials
		fails  string // part of the error
	}{
		"nothing, kafka":    {engine: Kafka},
		"nothing, rabbitmq": {engine: RabbitMQ, want: Credentials{User: "guest", Password: contract.NewSecret("guest")}},
		"nothing, sqs":      {engine: SQS, want: Credentials{User: "test", Password: contract.NewSecret("test")}},
		"plain is the default": {engine: Kafka,
			set:  map[string]string{"HARNESS_KAFKA_USER": "u", "HARNESS_KAFKA_PASSWORD": "p"},
			want: Credentials{User: "u", Password: contract.NewSecret("p"), Mechanism: "PLAIN"}},
		"password from a file": {engine: RabbitMQ,
			set:  map[string]string{"HARNESS_RABBITMQ_USER": "u", "HARNESS_RABBITMQ_PASSWORD_FILE": secret},
			want: Credentials{User: "u", Password: contract.NewSecret("s3cret")}},
		"tls by a file": {engine: Kafka,
			set:  map[string]string{"HARNESS_KAFKA_TLS_CA": pem},
			want: Credentials{TLS: TLS{Enabled: true, CA: pem}}},
		"tls with the system's authorities": {engine: Kafka,
			set:  map[string]string{"HARNESS_KAFKA_TLS": "1"},
			want: Credentials{TLS: TLS{Enabled: true}}},

		"user alone": {engine: Kafka, set: map[string]string{"HARNESS_KAFKA_USER": "u"}, fails: "set together"},
		"password twice": {engine: Kafka,
			set: map[string]string{"HARNESS_KAFKA_PASSWORD": "p", "HARNESS_KAFKA_PASSWORD_FILE": secret}, fails: "both set"},
		"empty file":   {engine: Kafka, set: map[string]string{"HARNESS_KAFKA_PASSWORD_FILE": empty}, fails: "is empty"},
		"missing file": {engine: Kafka, set: map[string]string{"HARNESS_KAFKA_PASSWORD_FILE": filepath.Join(dir, "no")}, fails: "HARNESS_KAFKA_PASSWORD_FILE"},
		"mechanism": {engine: Kafka, fails: "SCRAM-SHA-512",
			set: map[string]string{"HARNESS_KAFKA_USER": "u", "HARNESS_KAFKA_PASSWORD": "p", "HARNESS_KAFKA_SASL_MECHANISM": "GSSAPI"}},
		"mechanism alone":    {engine: Kafka, set: map[string]string{"HARNESS_KAFKA_SASL_MECHANISM": "PLAIN"}, fails: "without a user"},
		"cert without key":   {engine: Kafka, set: map[string]string{"HARNESS_KAFKA_TLS_CERT": pem}, fails: "set together"},
		"missing authority":  {engine: SQS, set: map[string]string{"HARNESS_SQS_TLS_CA": filepath.Join(dir, "no")}, fails: "HARNESS_SQS_TLS_CA"},
		"other engine's set": {engine: Kafka, set: map[string]string{"HARNESS_RABBITMQ_USER": "u"}},
	} {
		got, err := variables(tc.engine, tc.set).credentials()
		if tc.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: error %v, want one with %q", name, err, tc.fails)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: user %q, %v, %v", name, got.User, got, err)
		}
	}
}

func TestEndpointsSurviveTheEnvironment(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-z0-9._]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		settings := rapid.MapOf(word, rapid.StringMatching(`[A-Za-z0-9.=-]{0,8}`)).Draw(t, "settings")
		if len(settings) == 0 {
			settings = nil
		}
		want := Endpoint{
			Engine:   rapid.SampledFrom(Engines()).Draw(t, "engine"),
			Provider: externalName,
			Address:  word.Draw(t, "address"),
			Version:  rapid.StringMatching(`[a-z0-9.-]{0,8}`).Draw(t, "version"),
			Admin:    rapid.StringMatching(`[a-z:/0-9.]{0,8}`).Draw(t, "admin"),
			Settings: settings,
		}
		set := map[string]string{}
		for _, line := range want.Environment() {
			name, value, _ := strings.Cut(line, "=")
			set[name] = value
		}
		env := variables(want.Engine, set)
		got, err := env.read(env.get(""))
		got.Credentials = Credentials{}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %+v, %v\nwant %+v", got, err, want)
		}
	})
}

func TestSettingsMustBePairs(t *testing.T) {
	for _, text := range []string{"a", "a=1,b", "=1", "a=1,,b=2"} {
		env := variables(Kafka, map[string]string{"HARNESS_KAFKA_SETTINGS": text})
		if got, err := env.settings(); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
