# From Rails 7.1 on, schema.rb would create the schema "idgen" before the extension, which creates it itself: loading it
# would fail (42P06).
ActiveSupport.on_load(:active_record_postgresqladapter) do
  prepend(Module.new { def schema_names = super - ['idgen'] })
end

# For structure.sql: the role of the migrations has no rights on the schema "idgen", and does not own the extension.
ActiveRecord::Tasks::DatabaseTasks.structure_dump_flags = %w[--exclude-schema=idgen --no-comments]

# 16 bytes, the key "shared" of the server's idgen.key_file
ID_KEY = [ENV.fetch('ID_KEY')].pack('H*')
