// A small web application with flaws on purpose.
const crypto = require('crypto');
const { exec } = require('child_process');
const https = require('https');
const path = require('path');
const fs = require('fs');
const mysql = require('mysql2');
const express = require('express');

const app = express();
const db = mysql.createConnection({ host: 'localhost', user: 'app', password: process.env.DB_PASSWORD });

app.get('/user', (req, res) => {
  db.query("SELECT id, name FROM users WHERE name = '" + req.query.name + "'", (error, rows) => {
    res.json(rows);
  });
});

app.get('/search', (req, res) => {
  const query = `SELECT id, title FROM posts WHERE title LIKE '%${req.query.word}%' AND author = ${req.query.author}`;
  db.query(query, (error, rows) => res.json(rows));
});

app.get('/sorted', (req, res) => {
  db.query(`SELECT id, title FROM posts ORDER BY ${req.query.column}`, (error, rows) => res.json(rows));
});

app.get('/ping', (req, res) => {
  exec('ping -c 1 ' + req.query.host, (error, stdout) => res.type('text').send(stdout));
});

app.get('/hello', (req, res) => {
  res.send('<h1>Hello ' + req.query.name + '</h1>');
});

app.get('/file', (req, res) => {
  fs.createReadStream(path.join(__dirname, 'files', req.query.name)).pipe(res);
});

function etag(body) {
  return crypto.createHash('md5').update(body).digest('hex');
}

function resetToken() {
  return Math.random().toString(36).slice(2);
}

function fetchQuietly(url) {
  try {
    return https.get(url, { rejectUnauthorized: false });
  } catch (error) {}
}

function scratch(size) {
  return Buffer.allocUnsafe(size);
}

module.exports = { app, etag, resetToken, fetchQuietly, scratch };
