package main

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

// checkParseAddr fails unless parseAddr and netip say the same of a text that
// is not a decimal number.
func checkParseAddr(t *testing.T, text string) (ok bool) {
	t.Helper()
	addr, is4, ok := parseAddr([]byte(text))
	want, err := netip.ParseAddr(text)
	if ok != (err == nil) {
		t.Fatalf("parseAddr(%q) accepts it: %t; netip: %v", text, ok, err)
	}
	if !ok {
		return false
	}
	got := addr.netip()
	if is4 {
		got = addr4(addr.lo).netip()
	}
	if got != want.Unmap() {
		t.Fatalf("parseAddr(%q) = %v, netip says %v", text, got, want)
	}
	return true
}

func addrSeeds() []string {
	return []string{
		"0.0.0.0", "255.255.255.255", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1..2.3", ".1.2.3", "1.2.3.", "1.2.3.00",
		"::", ":", ":::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
		"1:2:3:4::5:6:7:8", "1::2::3", "12345::", "g::", "1:", ":1", "1:2:3:4:5:6:7:", "::ffff:1.2.3.4", "::FFFF:102:304",
		"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5", "::12345.1.1.1", "1::1.2.3.4 ",
	}
}

func TestParseAddrSaysWhatNetipSays(t *testing.T) {
	for _, text := range addrSeeds() {
		checkParseAddr(t, text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "0123456789abcdefABCDEF:.::..x"
	accepted, refused := 0, 0
	for range 100_000 {
		text := []byte(randomAddr(random))
		for range random.IntN(3) {
			at, letter := random.IntN(len(text)), letters[random.IntN(len(letters))]
			switch random.IntN(3) {
			case 0:
				text[at] = letter
			case 1:
				text = append(text[:at], text[at+1:]...)
			case 2:
				text = append(text[:at], append([]byte{letter}, text[at:]...)...)
			}
			if len(text) == 0 {
				break
			}
		}
		if !bytes.ContainsAny(text, ":.") {
			continue // perhaps a number
		}
		if checkParseAddr(t, string(text)) {
			accepted++
		} else {
			refused++
		}
	}
	if accepted < 20_000 || refused < 20_000 {
		t.Errorf("%d texts were accepted and %d refused: the test does not test much", accepted, refused)
	}
}

// randomAddr returns an address as it may be written.
func randomAddr(random *rand.Rand) string {
	var b [16]byte
	for i := range b {
		if random.IntN(2) == 0 {
			b[i] = byte(random.Uint32())
		}
	}
	switch random.IntN(5) {
	case 0:
		return netip.AddrFrom4([4]byte(b[:4])).String()
	case 1:
		return netip.AddrFrom4([4]byte(b[:4])).StringExpanded()
	case 2:
		return "::ffff:" + netip.AddrFrom4([4]byte(b[:4])).String()
	case 3:
		return strings.ToUpper(netip.AddrFrom16(b).StringExpanded())
	default:
		return netip.AddrFrom16(b).String()
	}
}

func TestParseNumberSaysWhatBigIntSays(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	for i := range 40_000 {
		n := new(big.Int).SetUint64(random.Uint64())
		n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(random.Uint64()))
		n.Lsh(n, 4).Rsh(n, uint(random.IntN(132)))
		if i < 200 { // around the limit
			n.Add(limit, big.NewInt(int64(i-100)))
		}
		got, ok := parseNumber([]byte(n.String()))
		if want := n.Cmp(limit) < 0; ok != want {
			t.Fatalf("parseNumber(%v) accepts it: %t", n, ok)
		}
		value := new(big.Int).Lsh(new(big.Int).SetUint64(got.hi), 64)
		value.Add(value, new(big.Int).SetUint64(got.lo))
		if ok && value.Cmp(n) != 0 {
			t.Fatalf("parseNumber(%v) = %v", n, value)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1 ", "0x1", "1e3"} {
		if _, ok := parseNumber([]byte(text)); ok {
			t.Errorf("parseNumber(%q) accepts it", text)
		}
	}
}

func FuzzParseAddr(f *testing.F) {
	for _, text := range addrSeeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, ":.") && !strings.Contains(text, "%") { // no number, no zone
			checkParseAddr(t, text)
		}
	})
}
