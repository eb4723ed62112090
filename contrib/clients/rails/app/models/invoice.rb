# The application generates the key. If it were a default of the attribute, an object that is read without its id would
# get another key.
class Invoice < ActiveRecord::Base
  belongs_to :order
  before_create { self.id ||= Combs.hmac_comb(ID_KEY, 'invoices') }

  # The client generates the key, and sends the same key in every retry.
  def self.create_again!(id, order_id)
    create_with(order_id:).create_or_find_by!(id:)
  end
end
