// Calls a function until the server has answered, and returns or throws its answer. An
// error without a severity is not the server's: the connection was lost.

import { setTimeout } from 'node:timers/promises'

export async function untilAnswered(attempt) {
  for (;; await setTimeout(100)) {
    try {
      return await attempt()
    } catch (error) {
      const { severity, code } = error.cause ?? error.original ?? error.driverError ?? error
      if (severity && !/^(08|40|57P)/.test(code)) throw error
    }
  }
}
