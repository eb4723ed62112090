require 'securerandom'

# A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4.
def short_comb(now = Time.now, random = SecureRandom.bytes(16))
  bytes = random.bytes
  bytes[0, 2] = (now.to_i / 60 % 65536).divmod(256)
  bytes[6] = bytes[6] & 0x0f | 0x40
  bytes[8] = bytes[8] & 0x3f | 0x80
  bytes.pack('C*').unpack('H8H4H4H4H12').join('-')
end
