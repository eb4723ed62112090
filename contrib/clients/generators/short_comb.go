package main

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// NewShortComb returns a short COMB as idgen.short_comb() makes it: a UUID of
// version 4 that begins with the minute modulo 65536.
func NewShortComb() ([16]byte, error) {
	return NewShortCombOf(60_000, 2)
}

// NewShortCombOf does so for a period in ms and a number of prefix bytes.
func NewShortCombOf(periodMs int64, prefixBytes int) (id [16]byte, err error) {
	if _, err = rand.Read(id[:]); err == nil {
		id = shortComb(time.Now(), id, periodMs, prefixBytes)
	}
	return
}

func shortComb(now time.Time, random [16]byte, periodMs int64, prefixBytes int) [16]byte {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(now.UnixMilli()/periodMs))
	copy(random[:], number[8-prefixBytes:])
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	return random
}
