package dave

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/glyphoxa/glyphoxa/voice/dave/mls"
)

// Messages of the real voice gateway to user 158049329150427136 in channel
// 927310423890473011, as published in the tests of davey: its external sender, a
// proposal to add user 158533742254751744, and its revocation.
const (
	capturedSender  = "404104ca1a2b102501d0672bd45ed74ffb83e078b2ba5b12c3f69fad56f083b6a35fc989c6736b5852b5aecdfcdf206e156d3d1dba8e3e5b2f89fc0c16f11614e84e4a00010100"
	capturedAppend  = "41f000010001080cde77eadc823033000000000000000002000000000002000100010002404104a61acd34ff0548e6f767cc4df9619b51ba5814d52ee558284fc554405768e9e741ba32276414941b7c0190dcb5dfc3349a168f1247ecbdf6fc69f3eecab3765d404104f44da24e5aa9f73796fa38be115556e6b7d4f6ba55d2ecc3f1b9d198af6237e3fc8fc635996b6c76e77b4acace33f5cfd745ad0d540dd6f03f0da85c82e14714404104e7793985ed074af49568b53cf2e3974688279f02ee8d7c7df099ce3c7a1a28e747f59a7c7c23e9ef4f7815fb3469f39ea124f8b76712c41b763a55b867e6b48b00010802333999400200000200010200020000020001010000000000000000ffffffffffffffff0040483046022100d874dc777d4ede7e6d3374f737bc1394ac0ffd0635abdc9d02b3e359e059466a022100e62e97aefd5c6b32ff0ac5c5159dbe94f6f5a01bd0dd14a9dcc4d1e6248972ac004047304502205168abdf8d83a48daf8d5960afb305022de707c7496087feb43004c9fd2be5e80221008312a6f6df1ff593671a39f9966f6d1caef43e0c6d53c74300ba089ceeecfbf440473045022100cdbe804ba06a9be17615fe3c7f9055f31a6d0ea9402dd9fda6d109e9a3cb632b022067409e59f6b7f0a3eddd330a092a6c13d99d12abaebe0d6d40a0dae435c2a7a2"
	capturedRevoke  = "212062386ffb20b28f556b2465c0a2520ba2b074fca00e94b2fdebc0496d544cd6c0"
	capturedUser    = 158049329150427136
	capturedAdded   = 158533742254751744
	capturedChannel = 927310423890473011
)

func TestRealGatewayMessagesAreUnderstood(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	s, err := NewSession(Config{User: capturedUser, Channel: capturedChannel})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(Version); err != nil {
		t.Fatal(err)
	}
	receive := func(op uint8, b []byte) []Message {
		t.Helper()
		out, err := s.Receive(op, b, start)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	appended := slices.Concat([]byte{0}, unhex(capturedAppend))
	revoked := slices.Concat([]byte{1}, unhex(capturedRevoke))
	receive(OpExternalSender, unhex(capturedSender))
	if out, err := s.Receive(OpProposals, appended, start); err == nil || len(out) > 0 {
		t.Errorf("a user nobody saw join: %v, %v", out, err)
	}
	if err := s.Joined(capturedAdded); err != nil {
		t.Fatal(err)
	}
	if out := receive(OpProposals, appended); len(out) != 1 || out[0].Op != OpCommitWelcome {
		t.Errorf("answer to the proposal: %v", out)
	}
	// Discord's own reference to the proposal is the one we compute.
	if out := receive(OpProposals, revoked); len(out) != 0 {
		t.Errorf("answer to the revocation: %v", out)
	}
	out := receive(OpProposals, appended)
	m, _, err := mls.ParsePublicMessage(out[0].Binary)
	if err != nil {
		t.Fatal(err)
	}
	receive(OpAnnounceCommit, m.Append([]byte{0, 0}))
	if !s.Sealer().Ready() || s.Epoch() != 1 {
		t.Errorf("epoch %d, ready %v", s.Epoch(), s.Sealer().Ready())
	}
	if _, ok := s.opener.speakers[capturedAdded]; !ok || len(s.opener.speakers) != 1 {
		t.Error("the other user has no key")
	}
	if bytes.Count([]byte(s.PrivacyCode()), []byte(" ")) != 5 {
		t.Errorf("privacy code %q", s.PrivacyCode())
	}
}
