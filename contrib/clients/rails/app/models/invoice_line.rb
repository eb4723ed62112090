class InvoiceLine < ActiveRecord::Base
  attribute :id, default: -> { hmac_comb(ID_KEY, 'invoice_lines') }
  belongs_to :invoice
end
