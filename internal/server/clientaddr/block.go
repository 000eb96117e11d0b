// Package clientaddr says where a client is: the address at the other end of its connection or,
// behind a proxy that the owner trusts, the one that the proxy names, by the PROXY protocol or in a
// header of HTTP. What anybody else says about addresses is not believed. It also says which
// addresses are counted as one.
package clientaddr

import (
	"fmt"
	"net"
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
			return nil, fmt.Errorf("%q is no network and no address; write proxies that are trusted as 10.0.0.5 or 10.0.0.0/24, with "+
				"commas between them", one)
		case network.Bits() == 0:
			return nil, fmt.Errorf("%s is everybody, who could then come from any address they like; name the proxies alone", one)
		case network.Addr().Is4In6():
			return nil, fmt.Errorf("%s is a network of IPv4; write it as one", one)
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
