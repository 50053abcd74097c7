import { DataSource } from 'typeorm';

/** A data source that reads the tables from the entities and never connects. */
export class Unconnected extends DataSource {
  override async initialize(): Promise<this> {
    await this.buildMetadatas();
    return this;
  }
}
