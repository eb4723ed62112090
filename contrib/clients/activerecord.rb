# ActiveRecord 6.1 to 7.2, with ruby-pg
require 'active_record'
require 'stringio'
require_relative 'short_comb'

# In an application, config/initializers/idgen.rb. From Rails 7.1 on, schema.rb would create the schema "idgen" before
# the extension, which creates it itself: loading fails (42P06).
ActiveSupport.on_load(:active_record_postgresqladapter) do
  prepend(Module.new { def schema_names = super - ['idgen'] })
end

CONFIGURATION = {
  adapter: 'postgresql', host: ENV['PGHOST'], port: ENV['PGPORT'], username: ENV['PGUSER'], database: ENV['PGDATABASE']
}.freeze
ActiveRecord::Base.establish_connection(CONFIGURATION)
ActiveRecord::Migration.verbose = false

class Order < ActiveRecord::Base; end
class Draft < ActiveRecord::Base; end
class Event < ActiveRecord::Base; end
class Visit < ActiveRecord::Base; end
class Click < ActiveRecord::Base; end
class Account < ActiveRecord::Base; end

# The SQLSTATE of a refusal, and the name of the constraint that was violated.
def violation(error)
  [PG::Result::PG_DIAG_SQLSTATE, PG::Result::PG_DIAG_CONSTRAINT_NAME].map { |field| error.cause.result.error_field(field) }
end

# Creates an order once, however often the command is sent, in one statement: a transaction that begins on a lost
# connection can lose its BEGIN (Rails 7.1 and later, unless database.yml has connection_retries: 0).
CREATE_ORDER = <<~SQL
  WITH command AS (
      SELECT * FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', jsonb_build_object('note', $2::text))
  ), inserted AS (
      INSERT INTO orders (id, note) SELECT entity_id, $2 FROM command WHERE created
  )
  SELECT entity_id, created FROM command
SQL

# exec_query: the query cache would answer a second select_one
def create_order(command_id, note)
  Order.connection.exec_query(CREATE_ORDER, 'create_order', [command_id, note]).first
end

# The command id is made once, and is the same in every retry.
def create_order_until_answered(command_id, note)
  create_order(command_id, note)
rescue ActiveRecord::StatementInvalid, ActiveRecord::ConnectionNotEstablished => e
  raise if e.cause.is_a?(PG::ServerError) && !violation(e).first.match?(/\A(08|40|57P)/)

  ActiveRecord::Base.connection_pool.disconnect!
  sleep 0.1
  retry
end

# With the argument "orders": an order for each command id that it reads.
if ARGV == ['orders']
  $stdout.sync = true
  $stdin.each_line(chomp: true) { |id| puts create_order_until_answered(id, id)['entity_id'] }
  exit
end

# The tables of an application, in a database of their own.
class CreateTasks < ActiveRecord::Migration[6.1]
  def change
    enable_extension 'idgen'
    create_table :tasks, id: :uuid, default: -> { "idgen.keyed_comb(area => 'tasks')" } do |t|
      t.text :note
    end
    create_table :customers, id: { type: :text, collation: 'C' }, default: -> { "idgen.prefixed_id('cust')" } do |t|
      t.bigint :number, default: -> { 'idgen.snowflake()' }
    end
  end
end

def dump_schema
  source = ActiveRecord.version < Gem::Version.new('7.2') ? :connection : :connection_pool
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.public_send(source), StringIO.new).string
end

$failed = false

def task(name)
  yield
  puts "ok activerecord: #{name}"
rescue StandardError => e
  puts "not ok activerecord: #{name}: #{e.message.tr("\n", ' ')}"
  $failed = true
end

def check(holds, message)
  raise message unless holds
end

def refused(error_class, *expected)
  yield
rescue error_class => e
  check violation(e) == expected, violation(e).inspect
else
  raise 'accepted'
end

task 'generator' do
  File.readlines('short_comb_vectors.csv', chomp: true).drop(1).each do |line|
    period, bytes, ms, random, expected = line.split(',')
    [ms.to_i, ms.to_i + 0.5].each do |time|
      id = short_comb(time, [random].pack('H*'), period_ms: period.to_i, prefix_bytes: bytes.to_i)
      check id == expected, "#{id} in place of #{expected}"
    end
  end
  check short_comb != short_comb, 'two short COMBs are equal'
end

task 'default key' do
  order = Order.create!(note: 'one')
  check Order.find(order.id).note == 'one', "no row #{order.id}"
  check Order.insert_all([{ note: 'one' }, { note: 'two' }]).rows.size == 2, 'insert_all'
end

task 'client key' do
  Draft.create!(id: short_comb, note: 'two')
  refused(ActiveRecord::StatementInvalid, '23514', 'drafts_id_is_recent') do
    Draft.create!(id: short_comb(1.day.ago.to_f * 1000), note: 'three')
  end
end

task 'create once' do
  command_id = SecureRandom.uuid
  first = create_order(command_id, 'four')
  retried = create_order(command_id, 'four')
  check first['created'] && !retried['created'], 'created at the wrong call'
  check first['entity_id'] == retried['entity_id'], 'two ids'
  check Order.find(first['entity_id']).note == 'four', 'no order of the command'
  refused(ActiveRecord::StatementInvalid, '23514', 'creation_identifiers_same_command') { create_order(command_id, 'five') }
end

task 'bigint keys' do
  [Visit, Click].each do |model|
    id = model.create!(note: 'six').id
    digits = model.connection.select_value("SELECT id::text FROM #{model.table_name} WHERE id = #{id}")
    check digits == id.to_s, "#{model} #{id}"
  end
  beyond_double = 2**53 + 1
  Visit.where(id: beyond_double).delete_all
  Visit.create!(id: beyond_double)
  check Visit.find(beyond_double).id == beyond_double, '2^53 + 1'
end

task 'prefixed id' do
  id = Account.create!(note: 'seven').id
  check id.match?(/\Aacct_[0-9a-z]{25}\z/) && Account.find(id).note == 'seven', id
  refused(ActiveRecord::StatementInvalid, '23514', 'prefixed_id_check') { Account.create!(id: id.sub('acct', 'order')) }
end

task 'range of time' do
  id = Event.create!(note: 'eight').id
  within = ->(start, stop) { Event.where('idgen.uuid_v7_within(id, ?, ?)', start, stop).exists?(id) }
  check within.(1.hour.ago, 1.hour.from_now) && !within.(1.hour.from_now, 2.hours.from_now), id
end

task 'empty diff' do
  application = "#{ENV['PGDATABASE']}_rails"
  connect_to_new = lambda do
    ActiveRecord::Base.establish_connection(CONFIGURATION)
    ActiveRecord::Base.connection.recreate_database(application)
    ActiveRecord::Base.establish_connection(CONFIGURATION.merge(database: application, min_messages: 'error'))
  end
  connect_to_new.call
  CreateTasks.migrate(:up)
  schema = dump_schema
  check schema.include?(%q[create_table "tasks", id: :uuid, default: -> { "idgen.keyed_comb(area => 'tasks'::text)" }]), schema
  connect_to_new.call
  ActiveRecord::Schema.verbose = false
  eval schema # rubocop:disable Security/Eval
  again = dump_schema
  check again == schema, "the second dump differs: #{again}"
end

exit 1 if $failed
