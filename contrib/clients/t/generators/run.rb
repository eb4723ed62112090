# See t/003_generators.pl.
require './generators/combs'

$stdin.each_line(chomp: true) do |line|
  name, key, area, period, prefix, ms, random = line.split("\t", -1)
  key, random = [key, random].map { |hex| [hex].pack('H*') }
  ms = ms.to_f + 0.5 # the fraction of a millisecond is dropped
  puts case name
       when 'short' then Combs.short_comb(ms, random, period_ms: period.to_i, prefix_bytes: prefix.to_i)
       when 'hmac' then Combs.hmac_comb(key, area == '\N' ? nil : area, ms, random, period_ms: period.to_i)
       else "#{Combs.short_comb} #{Combs.hmac_comb(key, area)}"
       end
end
