// See t/003_generators.pl.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		w := strings.Split(lines.Text(), "\t")
		var random [16]byte
		key, _ := hex.DecodeString(w[1])
		hex.Decode(random[:], []byte(w[6]))
		period, _ := strconv.ParseInt(w[3], 10, 64)
		prefix, _ := strconv.Atoi(w[4])
		ms, _ := strconv.ParseInt(w[5], 10, 64)
		switch w[0] {
		case "short":
			fmt.Printf("%x\n", shortComb(ms, random, period, prefix))
		case "hmac":
			keyed, err := hmacComb(key, w[2], ms, random, period)
			if err != nil {
				panic(err)
			}
			fmt.Printf("%x\n", keyed)
		default:
			short, _ := NewShortComb()
			keyed, _ := NewHmacComb(key, w[2])
			fmt.Printf("%x %x\n", short, keyed)
		}
	}
}
