class InvoiceLine < ActiveRecord::Base
  belongs_to :invoice
  before_create { self.id ||= Combs.hmac_comb(ID_KEY, 'invoice_lines') }
end
