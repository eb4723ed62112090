class CreateTables < ActiveRecord::Migration[7.2]
  def change
    enable_extension 'idgen'
    create_table :customers, id: :uuid, default: -> { "idgen.keyed_comb(area => 'customers')" } do |t|
      t.text :name, null: false
    end
    create_table :orders, id: :uuid, default: -> { "idgen.keyed_comb(area => 'orders')" } do |t|
      t.references :customer, type: :uuid, foreign_key: true
      t.text :note, null: false
    end
    # default: nil, because the application generates the key
    create_table :invoices, id: :uuid, default: nil do |t|
      t.text :note, null: false
    end
    create_table :invoice_lines, id: :uuid, default: nil do |t|
      t.references :invoice, type: :uuid, null: false, foreign_key: true
      t.text :note, null: false
    end
    reversible { |direction| direction.up { check 'invoices', 'invoice_lines' } }
  end

  private

  # Needs EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant. schema.rb has no triggers:
  # config.active_record.schema_format = :sql
  def check(*tables)
    tables.each do |table|
      execute <<~SQL
        CREATE TRIGGER #{table}_id_is_recent BEFORE INSERT OR UPDATE OF id ON #{table}
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=#{table}')
      SQL
    end
  end
end
