# The application generates the key. A default of the attribute would give another key to an object that is read
# without its id.
class Invoice < ActiveRecord::Base
  belongs_to :order
  before_create { self.id ||= Combs.hmac_comb(ID_KEY, 'invoices') }

  # The client generates the key, and repeats it after a lost answer.
  def self.create_again!(id, order_id)
    create_with(order_id:).create_or_find_by!(id:)
  end
end
