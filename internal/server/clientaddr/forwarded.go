package clientaddr

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
)

// ErrForwarded: what proxies say in their headers cannot be read, or contradicts itself. One
// header is the proxy's and the other may be the client's, and nobody knows which: so neither
// counts.
var ErrForwarded = errors.New("the headers Forwarded and X-Forwarded-For cannot be read, or name two clients; " +
	"the proxy in front has to write one of them and to remove the other")

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
		return t.last(peer, strings.Split(strings.Join(older, ","), ",")), nil
	}
	named, err := forwardedFor(strings.Join(newer, ","))
	if err != nil {
		return "", err
	}
	client := t.last(peer, named)
	if len(older) > 0 && t.last(peer, strings.Split(strings.Join(older, ","), ",")) != client {
		return "", ErrForwarded
	}
	return client, nil
}

// last is the last address of a chain that is not trusted. Where one cannot be read it is the proxy
// that wrote it.
func (t Trusted) last(peer string, chain []string) string {
	for i := len(chain) - 1; i >= 0; i-- {
		ip, ok := node(chain[i])
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

// node reads an address as proxies write it: with a port or without.
func node(text string) (netip.Addr, bool) {
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
		if node, end, rest, err = element(rest); err != nil {
			return nil, err
		}
		named = append(named, node)
		if end == "" {
			return named, nil
		}
	}
}

// element reads pairs up to a comma or to the end.
func element(text string) (node, end, rest string, err error) {
	for rest = text; ; {
		var name, value string
		rest = strings.TrimLeft(rest, " \t")
		i := strings.IndexAny(rest, "=;,")
		if i >= 0 && rest[i] == '=' {
			name, rest = rest[:i], rest[i+1:]
			if value, rest, err = word(rest); err != nil {
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

// word reads a value, in quotation marks or without.
func word(text string) (value, rest string, err error) {
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
