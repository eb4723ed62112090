-- The server generates the keys of this table.
CREATE TABLE orders (
    id uuid PRIMARY KEY DEFAULT idgen.keyed_comb('orders'),
    note text NOT NULL
);

-- The application generates the keys of this table, and the server checks them. Each table has an area of its own.
CREATE TABLE invoices (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders
);
CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices');
