import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source';

/** The data source of `typeorm migration:run`. */
export default new DataSource(dataSourceOptions(process.env.DATABASE_URL!));
