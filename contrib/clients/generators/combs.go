package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// NewHmacComb returns a COMB like idgen.hmac_comb(): a version 4 UUID that begins with an HMAC of the hour and of its
// twelfth. The server's key file has the same 16-byte key.
func NewHmacComb(key []byte, area string) (id [16]byte, err error) {
	if _, err = rand.Read(id[:]); err != nil {
		return
	}
	return hmacComb(key, area, time.Now().UnixMilli(), id, 3_600_000)
}

func hmacComb(key []byte, area string, unixMs int64, id [16]byte, periodMs int64) ([16]byte, error) {
	if len(key) != 16 {
		return [16]byte{}, errors.New("the key of NewHmacComb() must have 16 bytes")
	}
	if len(area) > 63 {
		return [16]byte{}, errors.New("an area must have at most 63 bytes")
	}
	hash := func(level int, ms int64) []byte {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%d %d %d %s", level, periodMs, periodNumber(ms, periodMs), area)
		return mac.Sum(nil)
	}
	copy(id[:3], hash(1, unixMs))
	id[3] = hash(2, unixMs*12)[0]
	return stamp(id), nil
}

// NewShortComb returns a COMB like idgen.short_comb(), which begins with the minute modulo 65536.
func NewShortComb() (id [16]byte, err error) {
	if _, err = rand.Read(id[:]); err == nil {
		id = shortComb(time.Now().UnixMilli(), id, 60_000, 2)
	}
	return
}

func shortComb(unixMs int64, id [16]byte, periodMs int64, prefixBytes int) [16]byte {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(periodNumber(unixMs, periodMs)))
	copy(id[:], number[8-prefixBytes:])
	return stamp(id)
}

// periodNumber returns the quotient, rounded down.
func periodNumber(ms, periodMs int64) int64 {
	number := ms / periodMs
	if ms%periodMs < 0 {
		number--
	}
	return number
}

func stamp(id [16]byte) [16]byte {
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, variant of RFC 9562
	return id
}
