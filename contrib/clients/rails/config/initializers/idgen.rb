# From Rails 7.1 on, schema.rb would create the schema "idgen" before the extension, which creates it itself: loading it
# would fail (42P06).
ActiveSupport.on_load(:active_record_postgresqladapter) do
  prepend(Module.new { def schema_names = super - ['idgen'] })
end

# 16 bytes, the key "app" of the server's idgen.key_file
ID_KEY = [ENV.fetch('ID_KEY')].pack('H*')
