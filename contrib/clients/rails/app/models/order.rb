# The server generates the key.
class Order < ActiveRecord::Base
  has_many :invoices
  self.implicit_order_column = 'created_at' # first and last sort by it, and then by the key

  # The newest orders, or the orders after the last one of the previous page
  scope :after, lambda { |last|
    orders = order(created_at: :desc, id: :desc)
    last ? orders.where('(created_at, id) < (?, ?)', last.created_at, last.id) : orders
  }

  # This is a single statement, because Rails 7.1 and later can lose the BEGIN of a transaction with a lost connection.
  CREATE_ONCE = <<~SQL
    WITH command AS (
        SELECT * FROM idgen.create_once(
          idgen.check_recent_uuid_v7($1, past_tolerance => '1 day', future_tolerance => '10 minutes'),
          idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', $2::text))
    ), inserted AS (
        INSERT INTO orders (id, note) SELECT entity_id, $2 FROM command WHERE created
    )
    SELECT entity_id FROM command
  SQL

  # A client calls this method once for each command, and sends the same id in every retry.
  def self.new_command = SecureRandom.uuid_v7

  def self.create_once!(command, note)
    find(lease_connection.exec_query(CREATE_ONCE, 'create order', [command, note]).rows.first.first)
  end
end
