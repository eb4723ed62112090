# The application generates the key. A default of the attribute would give another key to an object that is read
# without its id.
class Invoice < ActiveRecord::Base
  has_many :lines, class_name: 'InvoiceLine'
  before_create { self.id ||= self.class.new_id }

  # insert_all! has no callbacks
  def self.new_id = Combs.hmac_comb(ID_KEY, 'invoices')

  # The client generates the key, and repeats it after a lost answer.
  def self.create_again!(id, note)
    create_with(note:).create_or_find_by!(id:)
  end
end
