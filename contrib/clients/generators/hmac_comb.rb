require 'openssl'
require 'securerandom'

# A COMB as idgen.hmac_comb() makes it: a UUID of version 4 whose first four bytes are an HMAC-SHA-256 of the hour and
# of its twelfth. The key is the 16 bytes that the server's key file has, too.
def hmac_comb(key, area = '', unix_ms = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond),
              random = SecureRandom.bytes(16), period_ms: 3_600_000)
  raise ArgumentError, 'the key of hmac_comb() must have 16 bytes' unless key.bytesize == 16

  hash = ->(level, number) { OpenSSL::HMAC.digest('SHA256', key, "#{level} #{period_ms} #{number} #{area}").bytes }
  bytes = hash[1, unix_ms / period_ms].first(3) + hash[2, unix_ms * 12 / period_ms].first(1) + random.bytes.drop(4)
  bytes[6] = bytes[6] & 0x0f | 0x40 # version 4
  bytes[8] = bytes[8] & 0x3f | 0x80 # variant of RFC 9562
  bytes.pack('C*').unpack('H8H4H4H4H12').join('-')
end
