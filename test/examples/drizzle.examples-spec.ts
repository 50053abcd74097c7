import { describeUsersOn } from './life-of-a-user';

describeUsersOn('drizzle');
