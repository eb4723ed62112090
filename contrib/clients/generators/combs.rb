require 'openssl'
require 'securerandom'

# Generates version 4 COMBs as idgen does.
module Combs
  module_function

  def now = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)

  # Returns a COMB that begins with an HMAC of the hour and of its twelfth. The server's key file has the same 16-byte
  # key.
  def hmac_comb(key, area, unix_ms = now, random = SecureRandom.bytes(16), period_ms: 3_600_000)
    raise ArgumentError, 'the key of hmac_comb() must have 16 bytes' unless key.bytesize == 16
    raise ArgumentError, 'an area must have at most 63 bytes' unless area.encode('UTF-8').bytesize <= 63

    unix_ms = unix_ms.floor
    hash = ->(level, number) { OpenSSL::HMAC.digest('SHA256', key, "#{level} #{period_ms} #{number} #{area}").bytes }
    stamp(hash[1, unix_ms / period_ms].first(3) + hash[2, unix_ms * 12 / period_ms].first(1), random)
  end

  # Returns a COMB that begins with the number of the period, by default the minute modulo 65536.
  def short_comb(unix_ms = now, random = SecureRandom.bytes(16), period_ms: 60_000, prefix_bytes: 2)
    stamp([unix_ms.floor / period_ms % 256**prefix_bytes].pack('Q>').bytes.last(prefix_bytes), random)
  end

  def stamp(prefix, random)
    bytes = prefix + random.bytes.drop(prefix.size)
    raise ArgumentError, 'a COMB must have 16 bytes' unless bytes.size == 16

    bytes[6] = bytes[6] & 0x0f | 0x40 # version 4
    bytes[8] = bytes[8] & 0x3f | 0x80 # variant of RFC 9562
    bytes.pack('C*').unpack('H8H4H4H4H12').join('-')
  end
end
