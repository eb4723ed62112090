# Since Rails 7.1, schema.rb creates the schema "idgen" before the extension. CREATE EXTENSION, which creates this
# schema itself, would then fail (42P06).
ActiveSupport.on_load(:active_record_postgresqladapter) do
  prepend(Module.new { def schema_names = super - ['idgen'] })
end

# These flags are for structure.sql, because the role of the migrations has no rights on the schema "idgen" and does not
# own the extension.
ActiveRecord::Tasks::DatabaseTasks.structure_dump_flags = %w[--exclude-schema=idgen --no-comments]

# The 16 bytes of the key "shared" in the server's idgen.key_file
ID_KEY = [ENV.fetch('ID_KEY')].pack('H*')
