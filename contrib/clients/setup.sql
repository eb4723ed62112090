-- What the superuser does in a database of the role app, before the migrations of a stack.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS idgen;

-- for create_once()
GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
-- for the trigger of keys that the application makes, whose key is a line of the server's key file
GRANT EXECUTE ON FUNCTION idgen.check_recent_hmac_id() TO app;
