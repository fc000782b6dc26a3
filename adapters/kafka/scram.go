// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"github.com/IBM/sarama"
)

// scram is the client's side of one SCRAM exchange without channel binding.
// https://www.rfc-editor.org/rfc/rfc5802
type scram struct {
	digest      func() hash.Hash
	password    string
	nonce       string // the client's, base64
	first       string // client-first-message-bare
	serverProof []byte // the signature that the server must show
	step        int
}

// scramGenerator returns nil for a mechanism that is none of SCRAM.
func scramGenerator(mechanism string) func() sarama.SCRAMClient {
	switch mechanism {
	case mechanismSHA256:
		return func() sarama.SCRAMClient { return &scram{digest: sha256.New} }
	case mechanismSHA512:
		return func() sarama.SCRAMClient { return &scram{digest: sha512.New} }
	}
	return nil
}

// Begin starts an exchange with a nonce of its own.
func (s *scram) Begin(user, password, _ string) error {
	nonce := rand.Text()
	escaped := strings.NewReplacer("=", "=3D", ",", "=2C").Replace(user)
	*s = scram{digest: s.digest, password: password, nonce: nonce, first: "n=" + escaped + ",r=" + nonce}
	return nil
}

// Step answers a challenge of the server.
func (s *scram) Step(challenge string) (string, error) {
	s.step++
	switch s.step {
	case 1:
		return "n,," + s.first, nil
	case 2:
		return s.prove(challenge)
	case 3:
		return "", s.verify(challenge)
	}
	return "", errors.New("scram: an exchange has three steps")
}

// Done tells whether the exchange is over.
func (s *scram) Done() bool { return s.step >= 3 }

func (s *scram) prove(challenge string) (string, error) {
	fields := scramFields(challenge)
	salt, err := base64.StdEncoding.DecodeString(fields["s"])
	rounds, err2 := strconv.Atoi(fields["i"])
	if err := errors.Join(err, err2); err != nil {
		return "", fmt.Errorf("scram: challenge: %w", err)
	}
	if !strings.HasPrefix(fields["r"], s.nonce) || rounds < 1 {
		return "", errors.New("scram: the challenge does not continue the client's nonce")
	}
	salted, err := pbkdf2.Key(s.digest, s.password, salt, rounds, s.digest().Size())
	if err != nil {
		return "", fmt.Errorf("scram: %w", err)
	}
	final := "c=biws,r=" + fields["r"]
	message := s.first + "," + challenge + "," + final
	s.serverProof = s.mac(s.mac(salted, "Server Key"), message)
	key := s.mac(salted, "Client Key")
	stored := s.digest()
	stored.Write(key)
	proof := make([]byte, len(key))
	subtle.XORBytes(proof, key, s.mac(stored.Sum(nil), message))
	return final + ",p=" + base64.StdEncoding.EncodeToString(proof), nil
}

// verify makes sure that the server knows the password too.
func (s *scram) verify(answer string) error {
	fields := scramFields(answer)
	if fields["e"] != "" {
		return fmt.Errorf("scram: the server says %s", fields["e"])
	}
	proof, err := base64.StdEncoding.DecodeString(fields["v"])
	if err != nil || !hmac.Equal(proof, s.serverProof) {
		return errors.New("scram: the server did not prove that it knows the password")
	}
	return nil
}

func (s *scram) mac(key []byte, text string) []byte {
	m := hmac.New(s.digest, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func scramFields(message string) map[string]string {
	fields := map[string]string{}
	for part := range strings.SplitSeq(message, ",") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	return fields
}
