class InvoiceLine < ActiveRecord::Base
  attribute :id, default: -> { Combs.hmac_comb(ID_KEY, 'invoice_lines') }
  belongs_to :invoice
end
