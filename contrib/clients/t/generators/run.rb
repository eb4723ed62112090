# The generators of Ruby, see t/003_generators.pl
require './generators/hmac_comb'
require './generators/short_comb'

bytes = ->(hex) { [hex].pack('H*') }
generators = {
  'short' => lambda { |period, prefix, ms, random|
    short_comb(ms.to_i, bytes[random], period_ms: period.to_i, prefix_bytes: prefix.to_i)
  },
  'hmac' => lambda { |key, area, period, ms, random|
    hmac_comb(bytes[key], area, ms.to_i, bytes[random], period_ms: period.to_i)
  },
  'now' => ->(key, area) { "#{short_comb} #{hmac_comb(bytes[key], area)}" }
}
$stdin.each_line(chomp: true) do |line|
  name, *words = line.split("\t", -1)
  puts generators[name].call(*words)
end
