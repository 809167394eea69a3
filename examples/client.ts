// A small client with flaws on purpose.
import { execSync } from 'child_process';
import { Agent } from 'https';
import { Pool } from 'pg';

export interface Account {
  id: number;
  owner: string;
}

const pool = new Pool();

export const agent = new Agent({ rejectUnauthorized: false });

export async function accounts(owner: string): Promise<Account[]> {
  const result = await pool.query(`SELECT id, owner FROM accounts WHERE owner = '${owner}'`);
  return result.rows;
}

export async function rename(id: number, owner: string): Promise<void> {
  const statement = "UPDATE accounts SET owner = '" + owner + "' WHERE id = " + id;
  await pool.query(statement);
}

export async function from(table: string): Promise<unknown[]> {
  return (await pool.query(`SELECT * FROM ${table}`)).rows;
}

export function show(element: HTMLElement, name: string): void {
  element.innerHTML = name;
}

export function banner(element: HTMLElement, name: string): void {
  element.innerHTML = `<b>${name}</b>`;
}

export function disk(folder: string): string {
  return execSync(`du -s ${folder}`).toString();
}

export function compute(formula: string): unknown {
  return new Function(`return ${formula}`)();
}
