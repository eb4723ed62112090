# Answer the commands of programs.txt with the template in this folder, as a request of Rails would.
require 'active_record'
require 'stringio'
require_relative '../generators/combs'
require_relative 'config/initializers/idgen'
Dir["#{__dir__}/app/models/*.rb"].each { |file| require file }

ActiveRecord::Base.establish_connection(
  adapter: 'postgresql', host: ENV['PGHOST'], port: ENV['PGPORT'], username: ENV['PGUSER'], database: ENV['PGDATABASE'],
  **eval("{#{ENV['POOL_SETTING']}}")
)
ActiveRecord::Migration.verbose = ActiveRecord::Schema.verbose = false

def dump_schema
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection_pool, StringIO.new).string
end

# Return structure.sql without its first and last commands, which contain a random key.
def dump_structure
  ActiveRecord::Tasks::DatabaseTasks.structure_dump(ActiveRecord::Base.connection_db_config, 'structure.sql')
  File.readlines('structure.sql').grep_v(/^\\/)
end

# Load structure.sql in place of the migrations.
def load_structure
  tables = ActiveRecord::Base.lease_connection
  tables.tables.each { |table| tables.drop_table(table, force: :cascade) }
  ActiveRecord::Tasks::DatabaseTasks.structure_load(ActiveRecord::Base.connection_db_config, 'structure.sql')
end

COMMANDS = {
  'migrate' => lambda do
    ActiveRecord::MigrationContext.new("#{__dir__}/db/migrate").migrate
    []
  end,
  # Verify that schema.rb and structure.sql can be loaded, and are the same afterwards.
  'diff' => lambda do
    schema = dump_schema
    again = nil
    ActiveRecord::Base.transaction do
      eval schema
      again = dump_schema
      raise ActiveRecord::Rollback
    end
    structure = dump_structure
    load_structure
    again.lines - schema.lines + (dump_structure - structure)
  end,
  'order_with_invoice' => lambda do |note|
    order = Order.create!(note:, invoices: [Invoice.new])
    [order.id, *order.invoices.map(&:id)]
  end,
  'bulk' => ->(note, number) { Order.insert_all!(Array.new(number.to_i) { { note: } }).rows.flatten },
  'pages' => lambda do |limit|
    all = []
    all.concat(Order.after(all.last).limit(limit)) until all.size == Order.count
    all.map(&:id)
  end,
  'new_command' => -> { [Order.new_command] },
  'create_once' => ->(command, note) { Order.create_once!(command, note).then { |order| [order.id, order.note] } },
  'insert_invoice' => ->(id, order_id) { [Invoice.create_again!(id, order_id).id] }
}.freeze

# Return the SQLSTATE and the constraint, if the server answered.
def fields(error)
  result = error.cause.result if error.cause.is_a?(PG::ServerError)
  [PG::Result::PG_DIAG_SQLSTATE, PG::Result::PG_DIAG_CONSTRAINT_NAME].map { |field| result&.error_field(field) }
end

$stdout.sync = true
$stdin.each_line(chomp: true) do |line|
  command, *words = line.split("\t")
  answer = begin
    ['ok', *COMMANDS.fetch(command).call(*words)]
  rescue ActiveRecord::StatementInvalid, ActiveRecord::ConnectionNotEstablished => e
    ['error', *fields(e), e.message]
  end
  ActiveRecord::Base.connection_handler.clear_active_connections!
  puts answer.map { |word| word.to_s.split.join(' ') }.join("\t")
end
