package main

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// NewShortComb returns a short COMB: the number of the minute modulo 65536,
// then 106 random bits, as a UUID of version 4.
func NewShortComb() (id [16]byte, err error) {
	if _, err = rand.Read(id[:]); err == nil {
		id = shortComb(time.Now(), id)
	}
	return
}

func shortComb(now time.Time, random [16]byte) [16]byte {
	binary.BigEndian.PutUint16(random[:], uint16(now.Unix()/60))
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	return random
}
