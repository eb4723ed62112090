-- What the superuser does in a database of the role app, before the migrations of a stack.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS idgen;

-- For create_once()
GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
-- For the trigger of keys that the application makes, under a key of the server's key file. The role can find out the
-- time of any such key by other triggers: grant it to a role for migrations only, or create the trigger as a superuser.
GRANT EXECUTE ON FUNCTION idgen.check_recent_hmac_id() TO app;
