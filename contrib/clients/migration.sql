-- The server generates the keys of this table.
CREATE TABLE orders (
    id uuid PRIMARY KEY DEFAULT idgen.keyed_comb('orders'),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    note text NOT NULL
);
CREATE INDEX ON orders (created_at, id);    -- for lists

-- The application generates the keys of these tables, and the server checks them. Each table has its own area.
CREATE TABLE invoices (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders
);
CREATE INDEX ON invoices (order_id);
CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices');

CREATE TABLE lines (
    id uuid PRIMARY KEY,
    invoice_id uuid NOT NULL REFERENCES invoices,
    item text NOT NULL
);
CREATE INDEX ON lines (invoice_id);
CREATE TRIGGER lines_id_is_recent BEFORE INSERT OR UPDATE OF id ON lines
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=lines');
