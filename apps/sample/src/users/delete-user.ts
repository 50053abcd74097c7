import type { AuthHooks } from '@svc/auth';
import { Order } from '../orders/order.entity';
import { User } from './user.entity';

/** Removes a customer with everything that belongs to one, in the transaction that erases the account. */
export const deleteUser: AuthHooks['deleteUser'] = async (user, { manager }) => {
  const { id } = user as User;
  await manager.delete(Order, { userId: id });
  await manager.delete(User, { id });
};
