-- The server generates the keys of this table.
CREATE TABLE orders (
    id uuid PRIMARY KEY DEFAULT idgen.keyed_comb('orders'),
    note text NOT NULL
);

-- The application generates the keys of these tables, and the server checks them. Each table has an area of its own.
CREATE TABLE invoices (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders
);
CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices');

CREATE TABLE lines (
    id uuid PRIMARY KEY,
    invoice_id uuid NOT NULL REFERENCES invoices,
    item text NOT NULL
);
CREATE TRIGGER lines_id_is_recent BEFORE INSERT OR UPDATE OF id ON lines
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=lines');
