# The application generates the key.
class Invoice < ActiveRecord::Base
  attribute :id, default: -> { Combs.hmac_comb(ID_KEY, 'invoices') }
  has_many :lines, class_name: 'InvoiceLine'

  # The client generates the key, and repeats it after a lost answer.
  def self.create_again!(id, note)
    create_with(note:).create_or_find_by!(id:)
  end
end
