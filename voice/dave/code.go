package dave

import (
	"fmt"
	"strings"
)

// privacyCode shows data as six groups of five digits. DAVE, "Displayable Codes".
func privacyCode(data []byte) string {
	const groups, size, modulus = 6, 5, 100_000
	var s strings.Builder
	for i := range groups {
		var v uint64
		for _, b := range data[i*size : (i+1)*size] {
			v = v<<8 | uint64(b)
		}
		if i > 0 {
			s.WriteByte(' ')
		}
		fmt.Fprintf(&s, "%0*d", size, v%modulus)
	}
	return s.String()
}
