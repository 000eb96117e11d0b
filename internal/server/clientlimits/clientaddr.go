package clientlimits

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Block is what an address is counted as, at every limit that is by address. Whoever has an IPv6
// address has 2^64 of them, so a network of 64 bits is one. Those of this machine are one too: a
// program on it has 2^24 and ::1. What is no address stays what it is.
func Block(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() {
		return "loopback"
	}
	if network, err := ip.Prefix(64); ip.Is6() && err == nil {
		return network.String()
	}
	return ip.String()
}

// Network is what a block has a turn with, where strangers stand in line: who is given networks of
// 64 bits is given thousands, and who has one address of IPv4 often has its neighbours.
func Network(block string) string {
	ip, err := netip.ParseAddr(block)
	if network, is := netip.ParsePrefix(block); is == nil {
		ip, err = network.Addr(), nil
	}
	if err != nil {
		return block
	}
	bits := 48
	if ip.Is4() {
		bits = 24
	}
	network, _ := ip.Prefix(bits) // which it has
	return network.String()
}

// Host is an address of a connection without its port.
func Host(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address // a socket on this machine, which has no port
	}
	return host
}

// Trusted are the proxies whose word counts.
type Trusted []netip.Prefix

// ParseTrusted reads networks and addresses, with commas between them.
func ParseTrusted(list string) (Trusted, error) {
	var all Trusted
	for _, one := range strings.Split(list, ",") {
		one = strings.TrimSpace(one)
		if one == "" && strings.TrimSpace(list) == "" {
			continue
		}
		network, err := netip.ParsePrefix(one)
		if ip, single := netip.ParseAddr(one); single == nil {
			network, err = ip.Unmap().WithZone("").Prefix(ip.Unmap().BitLen())
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is neither a network nor an address; write trusted proxies as 10.0.0.5 or 10.0.0.0/24, separated "+
				"by commas", one)
		case network.Bits() == 0:
			return nil, fmt.Errorf("%s includes everybody, and then anybody could claim any address; name only the proxies", one)
		case network.Addr().Is4In6():
			return nil, fmt.Errorf("%s is an IPv4 network; write it in IPv4 form", one)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// Has says whether an address is one of them.
func (t Trusted) Has(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && t.has(ip)
}

func (t Trusted) has(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, network := range t {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

// ErrForwarded: what proxies say in their headers cannot be read, or contradicts itself. One
// header is the proxy's and the other may be the client's, and nobody knows which: so neither
// counts.
var ErrForwarded = errors.New("the headers Forwarded and X-Forwarded-For cannot be read, or name two clients; the proxy in front must " +
	"write one of them and remove the other")

// OfRequest is where the client of a request is. Of a chain of proxies it is the last address that
// is not itself trusted: what stands before it, that client may have written.
func (t Trusted) OfRequest(r *http.Request) (string, error) {
	peer := Host(r.RemoteAddr)
	if !t.Has(peer) {
		return peer, nil
	}
	older, newer := r.Header.Values("X-Forwarded-For"), r.Header.Values("Forwarded")
	switch {
	case len(older) == 0 && len(newer) == 0:
		return peer, nil
	case len(newer) == 0:
		return t.lastUntrusted(peer, strings.Split(strings.Join(older, ","), ",")), nil
	}
	named, err := forwardedFor(strings.Join(newer, ","))
	if err != nil {
		return "", err
	}
	client := t.lastUntrusted(peer, named)
	if len(older) > 0 && t.lastUntrusted(peer, strings.Split(strings.Join(older, ","), ",")) != client {
		return "", ErrForwarded
	}
	return client, nil
}

// lastUntrusted is the last address of a chain that is not trusted. Where one cannot be read it is
// the proxy that wrote it.
func (t Trusted) lastUntrusted(peer string, chain []string) string {
	for i := len(chain) - 1; i >= 0; i-- {
		ip, ok := parseNode(chain[i])
		if !ok {
			return peer
		}
		peer = ip.String()
		if !t.has(ip) {
			break
		}
	}
	return peer
}

// parseNode reads an address as proxies write it: with a port or without.
func parseNode(text string) (netip.Addr, bool) {
	text = strings.Trim(text, " \t")
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	ip, err := netip.ParseAddr(text)
	return ip.Unmap().WithZone(""), err == nil
}

// forwardedFor is what each element of a Forwarded header (RFC 7239) says in for. The whole is read
// or nothing is: a client that leaves a quotation open would else swallow what the proxy appends.
func forwardedFor(header string) (named []string, err error) {
	for rest := header; ; {
		var node, end string
		if node, end, rest, err = parseElement(rest); err != nil {
			return nil, err
		}
		named = append(named, node)
		if end == "" {
			return named, nil
		}
	}
}

// parseElement reads pairs up to a comma or to the end.
func parseElement(text string) (node, end, rest string, err error) {
	for rest = text; ; {
		var name, value string
		rest = strings.TrimLeft(rest, " \t")
		i := strings.IndexAny(rest, "=;,")
		if i >= 0 && rest[i] == '=' {
			name, rest = rest[:i], rest[i+1:]
			if value, rest, err = parseValue(rest); err != nil {
				return "", "", "", err
			}
			if strings.EqualFold(name, "for") {
				if node != "" {
					return "", "", "", ErrForwarded
				}
				node = value
			}
			rest = strings.TrimLeft(rest, " \t")
		} else if i > 0 || i < 0 && rest != "" {
			return "", "", "", ErrForwarded // a name without a value
		}
		switch {
		case rest == "":
			return node, "", "", nil
		case rest[0] == ',':
			return node, ",", rest[1:], nil
		case rest[0] != ';':
			return "", "", "", ErrForwarded
		}
		rest = rest[1:]
	}
}

// parseValue reads a value, in quotation marks or without.
func parseValue(text string) (value, rest string, err error) {
	if text == "" || text[0] != '"' {
		i := strings.IndexAny(text, ";,\" \t")
		if i < 0 {
			i = len(text)
		}
		return text[:i], text[i:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], nil
		case '\\':
			if i++; i == len(text) {
				return "", "", ErrForwarded
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", ErrForwarded
}
