require 'securerandom'

# A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the number
# of the period, by default the minute modulo 65536.
def short_comb(unix_ms = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond), random = SecureRandom.bytes(16),
               period_ms: 60_000, prefix_bytes: 2)
  bytes = random.bytes
  bytes[0, prefix_bytes] = [unix_ms.floor / period_ms % 256**prefix_bytes].pack('Q>').bytes.last(prefix_bytes)
  bytes[6] = bytes[6] & 0x0f | 0x40
  bytes[8] = bytes[8] & 0x3f | 0x80
  bytes.pack('C*').unpack('H8H4H4H4H12').join('-')
end
