// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"strings"
	"testing"
)

// The exchange of RFC 7677, section 3.
func TestScramExchange(t *testing.T) {
	const (
		challenge = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
		proof     = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
		answer    = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
	)
	s := scramGenerator(mechanismSHA256)().(*scram)
	if err := s.Begin("user", "pencil", ""); err != nil {
		t.Fatal(err)
	}
	s.nonce = "rOprNGfwEbeRWgbNEkqO"
	s.first = "n=user,r=" + s.nonce
	for i, step := range []struct{ say, want string }{{"", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO"}, {challenge, proof}, {answer, ""}} {
		if s.Done() {
			t.Fatalf("done before step %d", i)
		}
		got, err := s.Step(step.say)
		if err != nil || got != step.want {
			t.Fatalf("step %d: %q, %v; want %q", i, got, err, step.want)
		}
	}
	if !s.Done() {
		t.Error("not done after three steps")
	}
}

func TestScramTrustsNobody(t *testing.T) {
	for name, challenge := range map[string]string{
		"another nonce":   "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"no salt":         "r=NONCEx,s=!,i=4096",
		"no rounds":       "r=NONCEx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0",
		"rounds are text": "r=NONCEx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=x",
		"nothing":         "",
	} {
		s := scramGenerator(mechanismSHA512)().(*scram)
		s.Begin("u,=", "p", "")
		first, _ := s.Step("")
		if !strings.HasPrefix(first, "n,,n=u=2C=3D,r=") {
			t.Fatalf("the user is not escaped: %q", first)
		}
		if _, err := s.Step(strings.Replace(challenge, "NONCE", s.nonce, 1)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s := scramGenerator(mechanismSHA256)().(*scram)
	s.Begin("u", "p", "")
	s.serverProof = []byte("x")
	for _, answer := range []string{"v=AAAA", "e=other-error", "v=!"} {
		if s.verify(answer) == nil {
			t.Errorf("answer %q: accepted", answer)
		}
	}
	if scramGenerator(mechanismPlain) != nil {
		t.Error("PLAIN has a SCRAM exchange")
	}
}
