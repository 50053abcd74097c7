import type { AuthHooks } from '@svc/auth';
import { Order } from '../orders/order.entity';
import { User } from './user.entity';

/** Deletes a customer and the customer's orders, in the transaction that deletes the account. */
export const deleteUser: AuthHooks['deleteUser'] = async (user, { manager }) => {
  const { id } = user as User;
  await manager.delete(Order, { userId: id });
  await manager.delete(User, { id });
};
