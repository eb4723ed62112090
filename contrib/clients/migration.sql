-- The server generates the keys of these tables; each table has an area of its own.
CREATE TABLE customers (
    id uuid PRIMARY KEY DEFAULT idgen.keyed_comb(area => 'customers'),
    name text NOT NULL
);
CREATE TABLE orders (
    id uuid PRIMARY KEY DEFAULT idgen.keyed_comb(area => 'orders'),
    customer_id uuid REFERENCES customers,
    note text NOT NULL
);

-- The application generates the keys of these tables, and the server checks them.
CREATE TABLE invoices (
    id uuid PRIMARY KEY,
    note text NOT NULL
);
CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=invoices');
CREATE TABLE invoice_lines (
    id uuid PRIMARY KEY,
    invoice_id uuid NOT NULL REFERENCES invoices,
    note text NOT NULL
);
CREATE TRIGGER invoice_lines_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoice_lines
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=invoice_lines');
