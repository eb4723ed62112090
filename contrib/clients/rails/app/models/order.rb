# The server generates the key.
class Order < ActiveRecord::Base
  has_many :invoices

  # One statement, because a transaction of Rails 7.1 and later can lose its BEGIN with a lost connection.
  CREATE_ONCE = <<~SQL
    WITH command AS (
        SELECT * FROM idgen.create_once(
          $1, idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', $2::text))
    ), inserted AS (
        INSERT INTO orders (id, note) SELECT entity_id, $2 FROM command WHERE created
    )
    SELECT entity_id FROM command
  SQL

  # The client generates the command id once, and repeats it after a lost answer.
  def self.create_once!(command, note)
    find(lease_connection.exec_query(CREATE_ONCE, 'create order', [command, note]).rows.first.first)
  end
end
