// SPDX-License-Identifier: Apache-2.0

// Package link is a proxy between some clients and a broker, whose way can be broken: late,
// held, lost, narrow, slow to close, reset or cut.
//
//	client --up--> Proxy --up--> broker
//	client <-down- Proxy <-down- broker
//
// A Proxy listens on loopback and forwards every connection to one address. It satisfies
// faults.Link by shape. What breaks bytes on their way is a toxic of Shopify/toxiproxy,
// which is used as a library and imported by toxiproxy.go alone; connections are accepted,
// counted, reset and cut here.
//
// A method that breaks returns when every open connection is seen to be broken, and new
// ones are from then on. Its repair returns when all of them are whole again, or have
// ended where bytes were lost.
package link
